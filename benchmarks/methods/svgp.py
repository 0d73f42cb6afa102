"""A sparse variational Gaussian process (GPyTorch) with the budget's inducing points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from benchmarks.methods.base import BYTES_PER_NUMBER, Classifier, Parameters, Size
from benchmarks.methods.parameters import with_number_for_gamma

BATCH = 256
N_STEPS = 1000
RATE = 0.02


@dataclass(frozen=True)
class Posterior:
    """The fitted process; the class of largest mean wins."""

    model: Any
    classes: np.ndarray

    def predict(self, X: np.ndarray) -> np.ndarray:
        import torch

        with torch.no_grad():
            means = self.model(torch.as_tensor(X, dtype=torch.float32)).mean
        predicted: np.ndarray = self.classes[means.argmax(dim=-1).numpy()]
        return predicted


def fit(X: np.ndarray, y: np.ndarray, parameters: Parameters, seed: int) -> Posterior:
    """Learn inducing points shared by all classes, width and scale by the softmax ELBO."""
    import gpytorch
    import torch

    torch.manual_seed(seed)
    settings = with_number_for_gamma(parameters, X)
    classes, coded = np.unique(y, return_inverse=True)
    centres = KMeans(settings["n_vectors"], n_init=1, random_state=seed).fit(X).cluster_centers_
    inducing = torch.as_tensor(centres, dtype=torch.float32)

    class Process(gpytorch.models.ApproximateGP):
        def __init__(self) -> None:
            latents = torch.Size([len(classes)])
            distribution = gpytorch.variational.CholeskyVariationalDistribution(
                len(inducing), batch_shape=latents
            )
            shared = gpytorch.variational.VariationalStrategy(self, inducing, distribution)
            super().__init__(
                gpytorch.variational.IndependentMultitaskVariationalStrategy(shared, len(classes))
            )
            self.mean_module = gpytorch.means.ConstantMean(batch_shape=latents)
            self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())
            self.covar_module.base_kernel.lengthscale = (2.0 * settings["gamma"]) ** -0.5

        def forward(self, x: Any) -> Any:
            mean, covariance = self.mean_module(x), self.covar_module(x)
            return gpytorch.distributions.MultivariateNormal(mean, covariance)

    model = Process()
    likelihood = gpytorch.likelihoods.SoftmaxLikelihood(
        num_classes=len(classes), mixing_weights=False
    )
    bound = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=len(X))
    rows = torch.as_tensor(X, dtype=torch.float32)
    labels = torch.as_tensor(coded)
    optimiser = torch.optim.Adam(model.parameters(), lr=RATE)
    for _ in range(N_STEPS):
        batch = torch.randint(len(rows), (BATCH,))
        optimiser.zero_grad()
        loss = -bound(model(rows[batch]), labels[batch])
        loss.backward()
        optimiser.step()
    return Posterior(model.eval(), classes)


def size(fitted: Posterior) -> Size:
    """The mean is a kernel expansion at the inducing points, with its own constants."""
    inducing = fitted.model.variational_strategy.base_variational_strategy.inducing_points
    n_vectors, n_columns = inducing.shape[-2:]
    n_outputs = len(fitted.classes)
    numbers = n_vectors * (n_columns + n_outputs) + n_outputs
    return Size(n_vectors, n_vectors, BYTES_PER_NUMBER * numbers)


METHOD = Classifier(
    "svgp",
    "Sparse variational Gaussian process (GPyTorch)",
    "J. Hensman, A. Matthews, Z. Ghahramani 2015",
    fit,
    size,
    packages={"gpytorch": "gpytorch"},
    budgeted=True,
)
