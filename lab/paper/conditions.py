"""Under which circumstances everyone is asked about: each network, and the first one with a noisy input."""

from dataclasses import dataclass

from lab.paper.retraining import MODELS

SIGMAS = (1e-4, 1e-3, 1e-2, 1e-1)


@dataclass(frozen=True)
class Condition:
    """A network, and how much noise is added to the input, in standardised units."""

    network: int
    sigma: float = 0.0

    @property
    def name(self) -> str:
        return f"noise {self.sigma:g}" if self.sigma else f"network {self.network}"


PLAIN = Condition(0)
RETRAINED = tuple(Condition(number) for number in range(MODELS))
NOISY = tuple(Condition(0, sigma) for sigma in SIGMAS)
CONDITIONS = RETRAINED + NOISY
