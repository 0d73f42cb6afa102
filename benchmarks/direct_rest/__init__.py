"""The direct method beyond classification: regression, one class, kernel PCA.

Each family is measured in three ways at 10, 20 and 50 vectors: the full method, which keeps all
rows; the Nyström method, the same convex problem over k-means centres; and the direct method, which
starts from these centres.
"""
