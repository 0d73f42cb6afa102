"""
What the vectors look like
==========================

`VectorsDisplay` shows the vectors of a machine: as pictures if the features are pixels, otherwise
as a table in the units of the data, here behind a StandardScaler. The title of each picture, and
the label of each row, is the class with the vector's largest coefficient, and that coefficient.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelet import SparseSVC, VectorsDisplay

pixels, digits = load_digits(return_X_y=True)
# the kernel is not learned; learned scales would blur pixels that matter little
digit_model = SparseSVC(20, C=10.0, learn_kernel=False, random_state=0).fit(pixels / 16, digits)
display = VectorsDisplay.from_estimator(digit_model)
display.ax_.set_title(f"{digit_model.n_vectors_} vectors that tell ten digits apart")

wine = load_wine(as_frame=True)
names = wine.target_names[wine.target]
wine_model = make_pipeline(StandardScaler(), SparseSVC(6, random_state=0)).fit(wine.data, names)
display = VectorsDisplay.from_estimator(wine_model)
display.ax_.set_title("Six typical wines")
plt.show()
