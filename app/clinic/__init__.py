"""What a clinic speaks, without HTTP: FHIR R4 Bundles in, RiskAssessments and cards out."""
