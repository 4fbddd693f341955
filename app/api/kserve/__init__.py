"""The door for KServe: its protocol V1 (`:explain`, `:predict`), and the Open Inference Protocol, version 2."""
