"""How much is measured: in full, or just enough to see that everything works."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """Every number that the quick form lowers."""

    people: int = 200
    repeats: int = 5
    # Movable features of the network with about 4,000 answers.
    many_answers: int = 16
    # Movable features of the complete lattice, and of everything that is too wide for one.
    lattice: int = 20
    wide: int = 40
    # People with thirty movable features, for each kind of model that is seen through.
    thirty: int = 20
    # Rows on which ONNX Runtime's best batch is looked for.
    tried_rows: int = 131_072
    # How long each side looks for answers among the wide features, and how often.
    race_seconds: float = 10.0
    races: int = 3
    # The published search is timed to so many answers.
    first_answers: int = 100
    load_seconds: float = 2.0
    load_rounds: int = 5
    slow_answers: int = 100_000
    slow_seconds: float = 25.0
    most_changes: int = 6
    # Movable features of which any four suffice: 1,001, 10,626 and 101,270 answers.
    growing: tuple[int, ...] = (14, 24, 41)
    deadline_ms: int = 1000
    deadlines: int = 5
    # Whole registers: so many people of each model, and so many of them asked about one by one, and compared.
    cohort_models: tuple[str, ...] = ("hcv", "mortgage", "thyroid", "synthetic")
    cohort_people: int = 25_000
    cohort_requests: int = 2_000
    cohort_compared: int = 125
    cohort_rounds: int = 3
    # Of the first model: the memory of the second is held against that of the first.
    cohort_growth: tuple[int, ...] = (10_000, 100_000, 1_000_000)
    cohort_ray: int = 100_000


FULL = Sizes()
QUICK = Sizes(
    people=5,
    repeats=1,
    many_answers=9,
    lattice=11,
    wide=14,
    thirty=2,
    tried_rows=1024,
    race_seconds=0.7,
    races=1,
    first_answers=10,
    load_seconds=0.3,
    load_rounds=1,
    slow_answers=300,
    slow_seconds=0.3,
    most_changes=3,
    growing=(6, 8, 10),
    deadline_ms=300,
    deadlines=1,
    cohort_models=("hcv",),
    cohort_people=40,
    cohort_requests=20,
    cohort_compared=5,
    cohort_rounds=1,
    cohort_growth=(20, 40),
    cohort_ray=0,
)
