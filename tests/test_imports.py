"""Modules do not import each other in a circle: import-linter sees to the rooms, not to what stands in one."""

from graphlib import TopologicalSorter

import grimp


def test_no_imports_form_a_circle():
    graph = grimp.build_graph("app")
    # `CycleError` names one.
    TopologicalSorter({module: graph.find_modules_directly_imported_by(module) for module in graph.modules}).prepare()
