"""Ask a Flipset service for every minimal set of changes that turns a model's decision.

with Client("http://127.0.0.1:8000") as flipset:
    answer = flipset.counterfactuals("hcv", patient, context={"sex": "male", "age": 41}, immutable=["BIL"])
    for plan in answer:
        print(plan.sentence, plan.score)
    print(answer.summary.outcome, answer.summary.complete)
"""

from flipset_client.answers import Answer
from flipset_client.asking import DEFAULT, Context, Instance
from flipset_client.async_answers import AsyncAnswer
from flipset_client.async_client import AsyncClient
from flipset_client.client import Client
from flipset_client.errors import (
    AnswerFailed,
    Busy,
    CutStream,
    FlipsetError,
    InvalidRequest,
    NotAllowed,
    NotFound,
    Refused,
    StillSearching,
    TimedOut,
    Unexpected,
    Unreachable,
)
from flipset_client.lines import (
    Change,
    Counterfactual,
    Elapsed,
    FeatureState,
    Json,
    LimitsApplied,
    Line,
    ModelIdentity,
    NoRecourse,
    Prediction,
    Problem,
    ProblemField,
    Progress,
    Proof,
    RegistryIdentity,
    Relaxation,
    RuleInForce,
    ServiceIdentity,
    Start,
    Summary,
    UnmatchedContext,
    Unsent,
    Value,
)
from flipset_client.served import (
    Example,
    FeatureListing,
    ModelDetails,
    ModelListing,
    RangeListing,
    RegistryDetails,
    RegistryFeature,
    SeveralPredictions,
    SinglePrediction,
    StructureListing,
    Subsets,
    SubsetShown,
)
from flipset_client.whole import Frame, WholeAnswer

__version__ = "0.1.0"

__all__ = [
    "DEFAULT",
    "Answer",
    "AnswerFailed",
    "AsyncAnswer",
    "AsyncClient",
    "Busy",
    "Change",
    "Client",
    "Context",
    "Counterfactual",
    "CutStream",
    "Elapsed",
    "Example",
    "FeatureListing",
    "FeatureState",
    "FlipsetError",
    "Frame",
    "Instance",
    "InvalidRequest",
    "Json",
    "LimitsApplied",
    "Line",
    "ModelDetails",
    "ModelIdentity",
    "ModelListing",
    "NoRecourse",
    "NotAllowed",
    "NotFound",
    "Prediction",
    "Problem",
    "ProblemField",
    "Progress",
    "Proof",
    "RangeListing",
    "Refused",
    "RegistryDetails",
    "RegistryFeature",
    "RegistryIdentity",
    "Relaxation",
    "RuleInForce",
    "ServiceIdentity",
    "SeveralPredictions",
    "SinglePrediction",
    "Start",
    "StillSearching",
    "StructureListing",
    "SubsetShown",
    "Subsets",
    "Summary",
    "TimedOut",
    "Unexpected",
    "UnmatchedContext",
    "Unreachable",
    "Unsent",
    "Value",
    "WholeAnswer",
]
