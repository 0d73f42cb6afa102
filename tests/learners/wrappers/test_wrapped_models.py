"""compress, calibrate and save take what people have: pipelines, searches and other wrappers."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    PowerTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, SVR

import kernelet
from kernelet import ModelFileError, calibrate, compress, load, save
from kernelet.learners import CalibratedClassifier
from kernelet.learners.compression.calibrated_classifier import PlattClassifier
from kernelet.learners.compression.column_steps import table_encoder
from kernelet.learners.compression.compressed_models import (
    CompressedClassifier,
    CompressedPairwiseClassifier,
)
from kernelet.learners.compression.unwrapping import unwrapped
from kernelet.persistence import Record, from_record, read_summary, to_record
from wrapped_models import (
    CLASSES,
    LENGTH,
    MODELS,
    PAIR,
    PAIRS,
    ROWS,
    SPECIES,
    VALUES,
    assert_same,
    fit,
    fitted,
    frame,
    of_table,
)

PLENTY = 1000
DIGITS, FIGURES = load_digits(return_X_y=True)
ALL_BUT_FIRST = [False, True, True]
every = pytest.mark.parametrize("name", MODELS)


@every
def test_compress_with_room_for_all_vectors(name):
    model = fitted(name)
    before = pickle.dumps(model)
    assert_same(name, model, compress(model, PLENTY))
    assert pickle.dumps(model) == before


@every
def test_compress(name):
    model, small = fitted(name), compress(fitted(name), 12, random_state=0)
    assert unwrapped(small).model.n_vectors_ <= 12
    if name in VALUES:
        assert np.corrcoef(small.predict(ROWS), model.predict(ROWS))[0, 1] > 0.98
    else:
        assert np.mean(small.predict(ROWS) == model.predict(ROWS)) > 0.93


@pytest.mark.parametrize("name", [*CLASSES, *PAIRS])
def test_refit_takes_raw_rows(name):
    labels = SPECIES if name in CLASSES else PAIR
    for refit in ("margin", "direct"):
        small = compress(fitted(name), 12, ROWS, labels, refit=refit)
        assert np.mean(small.predict(ROWS) == labels) > 0.9


@pytest.mark.parametrize("around", [OneVsRestClassifier, OneVsOneClassifier])
@pytest.mark.parametrize("labels", [SPECIES, PAIR], ids=["three", "two"])
@pytest.mark.parametrize("weight", [None, "balanced"])
def test_refit_solves_the_same_problems(around, labels, weight):
    """An SVM over its own support vectors is the SVM, if costs and weights are the same."""
    rows = np.arange(len(labels)) % 10 < 7 + 3 * (labels == labels[-1])  # of different frequencies
    svc = SVC(C=3.0, gamma=0.3, class_weight=weight, tol=1e-9)
    model = make_pipeline(StandardScaler(), around(svc)).fit(ROWS[rows], labels[rows])
    small = compress(model, PLENTY, ROWS[rows], labels[rows], refit="margin")
    assert_array_equal(small.predict(ROWS), model.predict(ROWS))
    if around is OneVsRestClassifier or labels is SPECIES:
        assert_allclose(small.decision_function(ROWS), model.decision_function(ROWS), atol=2e-3)


@pytest.mark.parametrize("name", [*CLASSES, *PAIRS])
def test_calibrate(name):
    labels = SPECIES if name in CLASSES else PAIR
    model, calibrated = fitted(name), calibrate(fitted(name), ROWS, labels)
    if not hasattr(model, "predict_proba"):
        theirs = CalibratedClassifierCV(FrozenEstimator(model)).fit(ROWS, labels)
        ours, wanted = calibrated.predict_proba(ROWS), theirs.predict_proba(ROWS)
        if name != "one against one, two classes":  # of which scikit-learn calibrates votes
            assert_allclose(ours, wanted, atol=1e-6)
    probabilities = calibrated.predict_proba(ROWS)
    assert_array_equal(calibrated.predict(ROWS), calibrated.classes_[probabilities.argmax(axis=1)])
    assert np.mean(calibrated.predict(ROWS) == labels) > 0.9


@every
def test_save(name, tmp_path):
    model, path = fitted(name), tmp_path / "model.kernelet"
    save(model, path)
    loaded = load(path)
    assert_same(name, model, loaded)
    save(loaded, path)  # what was loaded can be saved, compressed and pickled
    assert_same(name, model, load(path))
    assert_same(name, model, compress(loaded, PLENTY))
    assert_same(name, model, pickle.loads(pickle.dumps(loaded)))
    assert read_summary(path)["n_vectors"] == unwrapped(loaded).model.n_vectors_


@every
def test_a_frozen_model_is_the_same(name):
    assert_same(name, fitted(name), compress(FrozenEstimator(fitted(name)), PLENTY))


class TestPipelines:
    def test_the_other_steps_are_shared(self):
        pipeline = fitted("pipeline")
        small = compress(pipeline, 10)
        assert type(small) is Pipeline
        assert [name for name, _ in small.steps] == [name for name, _ in pipeline.steps]
        assert small[0] is pipeline[0]
        assert isinstance(small[-1], CompressedPairwiseClassifier)
        assert isinstance(pipeline[-1], SVC)

    @pytest.mark.parametrize("imputed", [False, True])
    def test_columns_of_a_table(self, imputed, tmp_path):
        table, model = frame().copy(), of_table(imputed)
        if imputed:
            table.loc[::9, "weight"] = np.nan
        small = compress(model, PLENTY)
        assert_array_equal(small.predict(table), model.predict(table))
        smaller = compress(model, 15, table, SPECIES, refit="margin")
        assert np.mean(smaller.predict(table) == SPECIES) > 0.9
        assert calibrate(model, table, SPECIES).predict_proba(table).shape == (150, 3)
        save(model, tmp_path / "model.kernelet")
        loaded = load(tmp_path / "model.kernelet")
        assert isinstance(loaded, kernelet.TableModel)
        assert_array_equal(loaded.predict(table), model.predict(table))
        assert_allclose(loaded.decision_function(table), model.decision_function(table), atol=1e-9)
        again = load(tmp_path / "model.kernelet").predict(table[reversed(table.columns)])
        assert_array_equal(again, model.predict(table))

    @pytest.mark.parametrize(
        "columns",
        [
            [("first", OneHotEncoder(drop="first"), ["colour"])],
            [("rare", OneHotEncoder(max_categories=2), ["colour"])],
            [("twice", StandardScaler(), ["width"]), ("again", MinMaxScaler(), ["width"])],
            [("flag", SimpleImputer(add_indicator=True), ["width", "petal"])],
            [("bent", PowerTransformer(), ["width"])],
        ],
        ids=lambda columns: columns[0][0],
    )
    def test_other_columns_are_refused_by_files(self, columns, tmp_path):
        # by their colour alone, all classes would have the same score
        telling = ("telling", StandardScaler(), ["petal", "weight"])
        transformer = ColumnTransformer([*columns, telling])
        model = make_pipeline(transformer, SVC()).fit(frame(), SPECIES)
        small = compress(model, PLENTY)
        assert_array_equal(small.predict(frame()), model.predict(frame()))
        with pytest.raises(TypeError, match=r"step 'columntransformer'.*TableModel"):
            save(model, tmp_path / "model.kernelet")

    @pytest.mark.parametrize(
        "chosen",
        ["width", ["width", "petal"], [1, 2], slice(1, 3), slice("width", "petal"), ALL_BUT_FIRST],
        ids=str,
    )
    def test_columns_are_chosen_in_many_ways(self, chosen):
        if chosen == "width":
            chosen = ["width"]
        columns = ColumnTransformer([("some", StandardScaler(), chosen)], remainder="drop")
        numbers = frame()[["length", "width", "petal"]]
        columns.fit(numbers)
        encoder = table_encoder([("columns", columns)])
        assert_allclose(encoder.transform(numbers), columns.transform(numbers), atol=1e-12)

    def test_a_table_model(self):
        table = {"a": ROWS[:, 0], "b": ROWS[:, 3], "kind": SPECIES}
        model = kernelet.TableModel.fit(table, "kind", kernelet.ReducedSVC(20, random_state=0))
        small = compress(model, 8, random_state=0)
        assert isinstance(small, kernelet.TableModel)
        assert small.n_vectors_ <= 8 < model.n_vectors_
        assert small.score(table) > 0.9
        assert calibrate(model, table, SPECIES).predict_proba(table).shape == (150, 3)

    def test_names_of_columns(self, tmp_path):
        frame = pd.DataFrame(ROWS, columns=list("abcd"))
        model = make_pipeline(StandardScaler(), OneVsRestClassifier(SVC())).fit(frame, SPECIES)
        path = tmp_path / "model.kernelet"
        save(model, path)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", message="the model has .* vectors, fewer")
            for other in (compress(model, PLENTY), load(path), calibrate(model, frame, SPECIES)):
                assert_array_equal(other.predict(frame), model.predict(frame))
                assert_array_equal(other.feature_names_in_, list("abcd"))

    @pytest.mark.parametrize("numbers", [["width"], []])
    def test_columns_with_weights_or_without_names(self, numbers, tmp_path):
        columns = ColumnTransformer(
            [("all", StandardScaler(), ["length", "weight"]), ("more", MinMaxScaler(), numbers)],
            transformer_weights={"all": 3.0} if numbers else None,
        )
        model = make_pipeline(columns, SVC()).fit(frame(), SPECIES)
        if numbers:  # our columns have no weights
            with pytest.raises(TypeError, match="cannot hold the step 'columntransformer'"):
                save(model, tmp_path / "m.kernelet")
            return
        save(model, tmp_path / "m.kernelet")
        loaded = load(tmp_path / "m.kernelet")
        assert_allclose(loaded.decision_function(frame()), model.decision_function(frame()))

    def test_a_table_model_with_arguments_of_other_kinds(self):
        table, y = {"a": np.arange(6.0), "b": np.arange(6) % 2}, np.arange(6) % 2
        with pytest.raises(TypeError, match=r"target must be the name.*got ndarray"):
            kernelet.TableModel.fit(table, y, kernelet.SparseSVC(2))
        with pytest.raises(TypeError, match=r"TableModel.fit\(table, target, estimator\)"):
            kernelet.TableModel.fit(table, "b", "a")

    def test_a_table_model_around_a_pipeline_is_not_written(self, tmp_path):
        table = frame()[["length", "width"]].assign(kind=SPECIES)
        inner = make_pipeline(StandardScaler(), kernelet.ReducedSVC(5, random_state=0))
        model = kernelet.TableModel.fit(table, "kind", inner)
        with pytest.raises(TypeError, match="fit TableModel with the last step alone"):
            save(model, tmp_path / "m.kernelet")
        assert list(tmp_path.iterdir()) == []

    def test_switches_that_are_turned_after_the_fit(self, tmp_path):
        scaler = StandardScaler().fit(ROWS).set_params(with_std=False, with_mean=False)
        model = Pipeline([("as it is", scaler), ("svc", SVC(gamma=1e-6).fit(ROWS, SPECIES))])
        save(model, tmp_path / "m.kernelet")
        for read in (load, kernelet.load_predictor):
            found = read(tmp_path / "m.kernelet").decision_function(ROWS)
            assert_allclose(found, model.decision_function(ROWS))
        kernelet.export.json(model, tmp_path / "m.json")
        found = kernelet.export.read_json(tmp_path / "m.json").decision_function(ROWS)
        assert_allclose(found, model.decision_function(ROWS))

    def test_any_step_may_be_in_front(self):
        model = fit(make_pipeline(StandardScaler(), PCA(3), SVC()), SPECIES)
        assert_array_equal(compress(model, PLENTY).predict(ROWS), model.predict(ROWS))


class TestOneAgainstOne:
    """Estimators are positive for the later class, our pairs for the earlier one."""

    @pytest.mark.parametrize("gamma", [1e-4, 1e-3])
    def test_ten_classes(self, gamma):
        model = OneVsOneClassifier(SVC(C=5.0, gamma=gamma)).fit(DIGITS[:900], FIGURES[:900])
        small = compress(model, 10_000)
        assert isinstance(small, CompressedPairwiseClassifier)
        assert_array_equal(small.predict(DIGITS), model.predict(DIGITS))
        scores = model.decision_function(DIGITS)
        assert_allclose(small.decision_function(DIGITS), scores, atol=1e-9)

    def test_widths_of_their_own(self):
        """gamma="scale" depends on the rows of a pair."""
        model = OneVsOneClassifier(SVC(C=5.0)).fit(DIGITS[::2], FIGURES[::2])
        with pytest.warns(UserWarning, match=r"gamma of its own, from 0\.000.*interpolated"):
            small = compress(model, 10_000)
        assert_array_equal(small.predict(DIGITS[::2]), model.predict(DIGITS[::2]))
        assert np.mean(small.predict(DIGITS) == model.predict(DIGITS)) > 0.995

    def test_kernels_of_their_own(self):
        model = OneVsRestClassifier(SVC()).fit(ROWS, SPECIES)
        model.estimators_[1] = SVC(kernel="linear").fit(ROWS, SPECIES == "versicolor")
        with pytest.raises(ValueError, match=r"OneVsRestClassifier have different kernels"):
            compress(model, 10)

    def test_scalers_of_their_own(self):
        model = OneVsOneClassifier(make_pipeline(StandardScaler(), SVC())).fit(ROWS, SPECIES)
        with pytest.raises(ValueError, match=r"make_pipeline\(\.\.\., OneVsOneClassifier"):
            compress(model, 10)


class TestOneAgainstTheRest:
    def test_vectors_are_shared(self):
        model = OneVsRestClassifier(SVC(C=5.0)).fit(DIGITS[:900], FIGURES[:900])
        small = compress(model, 10_000)
        assert isinstance(small, CompressedClassifier)
        different = np.unique(
            np.concatenate([e.support_vectors_ for e in model.estimators_]), axis=0
        )
        assert small.n_vectors_ == len(different) <= 900
        assert_array_equal(small.predict(DIGITS), model.predict(DIGITS))
        assert np.mean(compress(model, 60).predict(DIGITS) == model.predict(DIGITS)) > 0.9

    def test_several_labels_for_a_row(self):
        labels = np.stack([SPECIES == "setosa", ROWS[:, 0] > 5.0], axis=1).astype(int)
        with pytest.raises(ValueError, match="several labels for a row"):
            compress(OneVsRestClassifier(SVC()).fit(ROWS, labels), 10)

    def test_other_estimators(self):
        model = OneVsRestClassifier(LogisticRegression(max_iter=5000)).fit(ROWS / 100.0, SPECIES)
        with pytest.raises(TypeError, match=r"^LogisticRegression is not a kernel machine"):
            compress(model, 10)


class TestProbabilities:
    def test_an_ensemble_is_refused(self, tmp_path):
        model = CalibratedClassifierCV(SVC(), cv=3).fit(ROWS, SPECIES)
        for take in (
            lambda: compress(model, 10),
            lambda: save(model, tmp_path / "model.kernelet"),
            lambda: kernelet.export.json(model, tmp_path / "model.json"),
        ):
            with pytest.raises(ValueError, match=r"3 models.*ensemble=False.*kernelet\.calibrate"):
                take()

    @pytest.mark.parametrize("write", [save, kernelet.export.json, kernelet.export.c])
    def test_scores_of_pairs_in_a_search_over_folds(self, write, tmp_path):
        inner = SVC(decision_function_shape="ovo")
        model = CalibratedClassifierCV(inner, ensemble=False, cv=2).fit(ROWS, SPECIES)
        with pytest.raises((TypeError, ValueError), match='decision_function_shape="ovr"'):
            write(model, tmp_path / "model.c")
        with pytest.raises(ValueError, match='decision_function_shape="ovr"'):
            compress(model, 5)
        assert list(tmp_path.iterdir()) == []

    def test_votes_of_one_pair(self):
        inner = OneVsOneClassifier(SVC(gamma=0.4))
        model = CalibratedClassifierCV(inner, ensemble=False, cv=2).fit(ROWS, PAIR)
        with pytest.raises(ValueError, match="leave out the OneVsOneClassifier"):
            compress(model, 5)

    def test_those_of_several_relevance_machines_are_lost_with_a_warning(self, tmp_path):
        inner = kernelet.RelevanceVectorClassifier(gamma=0.5)
        model = OneVsRestClassifier(inner).fit(ROWS / ROWS.std(axis=0), SPECIES)
        with pytest.warns(UserWarning, match="probabilities of the OneVsRestClassifier are lost"):
            save(model, tmp_path / "m.kernelet")

    @pytest.mark.parametrize("refit", ["none", "margin", "direct"])
    def test_other_scores_have_other_probabilities(self, refit):
        svc = SVC(C=10.0).fit(ROWS, SPECIES)
        model = calibrate(svc, ROWS, SPECIES)
        if refit == "none":
            assert isinstance(compress(model, 20, ROWS, SPECIES), CalibratedClassifier)
            return
        with pytest.warns(UserWarning, match=f'left out, as refit="{refit}" learns other scores'):
            small = compress(model, 20, ROWS, SPECIES, refit=refit)
        assert not hasattr(small, "predict_proba")

    def test_isotonic_regression_is_refused(self):
        model = CalibratedClassifierCV(SVC(), ensemble=False, method="isotonic").fit(ROWS, PAIR)
        with pytest.raises(ValueError, match=r"isotonic.*ensemble=False.*kernelet\.calibrate"):
            compress(model, 10)

    def test_the_scores_of_pairs_cannot_be_calibrated(self):
        svc = SVC(decision_function_shape="ovo")
        model = CalibratedClassifierCV(svc, ensemble=False).fit(ROWS, SPECIES)
        with pytest.raises(ValueError, match='decision_function_shape="ovr"'):
            compress(model, 10)
        alone = svc.fit(ROWS, SPECIES)
        assert calibrate(alone, ROWS, SPECIES).predict_proba(ROWS).shape == (150, 3)

    def test_platts_numbers_are_kept_and_labels_are_those_of_the_scores(self):
        model = fitted("Platt's")
        small = compress(model, PLENTY)[-1]
        assert isinstance(small, PlattClassifier)
        svc = model[-1]
        expected = 1.0 / (1.0 + np.exp(svc._probA * model.decision_function(ROWS) - svc._probB))
        scaled = model[0].transform(ROWS)
        assert_allclose(small.predict_proba(scaled)[:, 1], expected, atol=1e-9)
        assert_array_equal(small.predict(scaled), svc.predict(scaled))

    def test_probabilities_of_many_classes_are_lost_with_a_warning(self, tmp_path):
        model = fit(SVC(probability=True), SPECIES)
        for take in (
            lambda: compress(model, PLENTY),
            lambda: save(model, tmp_path / "model.kernelet"),
            lambda: kernelet.export.json(model, tmp_path / "model.json"),
        ):
            with pytest.warns(UserWarning, match=r"lost.*kernelet\.calibrate\(model, X, y\)"):
                take()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert hasattr(calibrate(model, ROWS, SPECIES), "predict_proba")

    def test_votes_have_no_calibrated_machine(self):
        model = calibrate(fitted("pipeline"), ROWS, SPECIES)[-1]
        assert isinstance(model, CalibratedClassifier)
        assert model.n_vectors_ == model.machine_.n_vectors
        with pytest.raises(AttributeError, match="predict_proba"):
            _ = model.calibrated_machine_

    def test_ours_keep_their_probabilities(self):
        small = kernelet.ReducedSVC(12, random_state=0).fit(ROWS, PAIR)
        model = calibrate(small, ROWS, PAIR)
        same = compress(model, PLENTY)
        assert_allclose(same.predict_proba(ROWS), model.predict_proba(ROWS), atol=1e-12)

    def test_older_pickles_hold_the_calibration_in_a_machine(self):
        model = calibrate(kernelet.ReducedSVC(5, random_state=0).fit(ROWS, PAIR), ROWS, PAIR)
        state = {**model.__getstate__(), "calibrated_machine_": model.calibrated_machine_}
        del state["calibration_"]
        old = CalibratedClassifier()
        old.__setstate__(state)
        assert_array_equal(old.predict_proba(ROWS), model.predict_proba(ROWS))


class TestTargets:
    def test_the_wrapper_comes_back(self):
        model = fitted("scaled targets")
        small = compress(model, 15)
        assert type(small) is TransformedTargetRegressor
        assert small.transformer_ is model.transformer_
        assert isinstance(model.regressor_[-1], SVR)

    def test_logarithms_stay_in_python(self, tmp_path):
        regressor = make_pipeline(StandardScaler(), SVR())
        model = TransformedTargetRegressor(regressor, func=np.log, inverse_func=np.exp)
        model.fit(ROWS, LENGTH)
        assert_allclose(compress(model, PLENTY).predict(ROWS), model.predict(ROWS))
        for take in (
            lambda: save(model, tmp_path / "model.kernelet"),
            lambda: kernelet.export.json(model, tmp_path / "model.json"),
        ):
            with pytest.raises(TypeError, match=r"FunctionTransformer.*regressor_"):
                take()


class TestErrors:
    def test_path_and_model_swapped(self, tmp_path):
        with pytest.raises(TypeError, match=r"model comes first.*kernelet\.save\(model, path\)"):
            save(str(tmp_path / "m.kernelet"), SVC().fit(ROWS, SPECIES))

    def test_a_class_instead_of_a_model(self):
        with pytest.raises(TypeError, match=r"SVC is a class; give a fitted model, SVC\(\.\.\.\)"):
            compress(SVC, 5)

    @pytest.mark.parametrize(
        "model",
        [
            RandomForestClassifier(2),
            make_pipeline(StandardScaler(), LogisticRegression()),
            VotingClassifier([("svc", SVC())]),
        ],
        ids=lambda model: type(model).__name__,
    )
    def test_one_sentence_and_what_to_do(self, model, tmp_path):
        model = clone(model).fit(ROWS / 100.0, SPECIES)
        last = model[-1] if isinstance(model, Pipeline) else model
        name = type(last).__name__
        for take in (
            lambda: compress(model, 5),
            lambda: calibrate(model, ROWS, SPECIES),
            lambda: save(model, tmp_path / "model.kernelet"),
            lambda: kernelet.export.c(model, tmp_path / "model.c"),
        ):
            with pytest.raises(TypeError, match=rf"{name}.*not a kernel machine.* Train ") as info:
                take()
            assert "OneClassSVM" not in str(info.value)

    def test_regressions_have_no_probabilities(self):
        for model in (SVR().fit(ROWS, LENGTH), fitted("scaled targets")):
            with pytest.raises(TypeError, match="is no classifier"):
                calibrate(model, ROWS, LENGTH)

    @pytest.mark.parametrize(
        "model",
        [
            make_pipeline(StandardScaler(), SVC()),
            GridSearchCV(SVC(), {"C": [1.0]}),
            kernelet.BudgetSearchCV(),
            OneVsRestClassifier(SVC()),
            CalibratedClassifierCV(SVC(), ensemble=False),
            TransformedTargetRegressor(SVR()),
            FrozenEstimator(SVC()),
        ],
        ids=lambda model: type(model).__name__,
    )
    def test_not_fitted(self, model):
        with pytest.raises(NotFittedError):
            compress(model, 3)

    def test_a_search_without_a_model(self):
        search = GridSearchCV(SVC(), {"C": [1.0]}, refit=False, cv=2).fit(ROWS, SPECIES)
        with pytest.raises(ValueError, match="refit=False"):
            compress(search, 3)

    def test_a_pipeline_without_a_model(self):
        pipeline = make_pipeline(StandardScaler(), "passthrough").fit(ROWS)
        with pytest.raises(ValueError, match="last step of the pipeline, 'passthrough'"):
            compress(pipeline, 3)


class TestFiles:
    @pytest.mark.parametrize(
        "scaler",
        [
            StandardScaler(with_mean=False),
            StandardScaler(with_std=False),
            MinMaxScaler((-1, 2)),
            MinMaxScaler(clip=True),
            MaxAbsScaler(),
            RobustScaler(with_scaling=False),
            RobustScaler(with_centering=False, quantile_range=(10.0, 90.0)),
        ],
        ids=repr,
    )
    def test_scalers_come_back(self, scaler, tmp_path):
        model = fit(Pipeline([("first", clone(scaler)), ("svc", SVC(gamma=0.3))]), SPECIES)
        save(model, tmp_path / "model.kernelet")
        loaded = load(tmp_path / "model.kernelet")
        assert [name for name, _ in loaded.steps] == ["first", "svc"]
        assert repr(loaded[0]) == repr(model[0])
        beyond = 3.0 * ROWS - 100.0
        assert_array_equal(loaded[0].transform(beyond), model[0].transform(beyond))
        back = model[0].inverse_transform(ROWS)
        assert_allclose(loaded[0].inverse_transform(ROWS), back)
        assert_array_equal(loaded.predict(beyond), model.predict(beyond))

    def test_floats_in_32_bits(self, tmp_path):
        rows = ROWS.astype(np.float32)
        model = make_pipeline(MinMaxScaler(), SVC()).fit(rows, SPECIES)
        save(model, tmp_path / "model.kernelet")
        loaded = load(tmp_path / "model.kernelet")
        assert_array_equal(loaded[0].transform(rows), model[0].transform(rows))

    def test_other_steps_are_named(self, tmp_path):
        model = fit(make_pipeline(StandardScaler(), PCA(3), SVC()), SPECIES)
        with pytest.raises(TypeError, match=r"step 'pca' of the pipeline, PCA.*pipeline\[-1\]"):
            save(model, tmp_path / "model.kernelet")
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize(
        ("spoil", "message"),
        [
            (lambda r: r.fields.update(steps=["a", "a"]), "no two of them equal"),
            (lambda r: r.fields.update(steps=["a__b", "c"]), "names"),
            (lambda r: r.fields.update(steps=[]), "names"),
            (lambda r: r.fields.update(steps=["a", "b", "c"]), "step1"),
            (lambda r: r.fields.update(steps=[1, 2]), "text"),
            (lambda r: r.parts.update(step0=r.parts["estimator"]), "another kind of model"),
            (lambda r: r.parts.update(estimator=r.parts["step0"]), "where an estimator should be"),
            (lambda r: step(r).arrays.update(scale_=np.ones(3)), "a number for each feature"),
            (lambda r: step(r).arrays.update(scale_=np.zeros(4)), "must be positive"),
            (lambda r: step(r).arrays.update(scale_=np.full(4, 1e-305)), "too small"),
            (lambda r: step(r).arrays.update(mean_=np.full(4, np.nan)), "NaN"),
            (lambda r: step(r).arrays.update(mean_=np.ones(4, dtype=np.int64)), "float"),
            (lambda r: step(r).arrays.pop("mean_"), "'mean_'.*missing"),
            (lambda r: step(r).fields.update(n_features_in_=7), "a number for each feature"),
            (lambda r: step(r).fields["params"].update(with_std="no"), "with_std"),
            (lambda r: step(r).fields["params"].update(new=True), "no parameter 'new'"),
        ],
    )
    def test_damaged_records(self, spoil, message):
        record = to_record(fitted("pipeline"))
        spoil(record)
        with pytest.raises((ModelFileError, ValueError), match=message):
            from_record(record)

    def test_damaged_ranges(self):
        model = fit(make_pipeline(MinMaxScaler((1, 2)), SVC()), SPECIES)
        for wrong in ([2, 1], [0, 10**400], ["a", "b"], [0]):
            record = to_record(model)
            step(record).fields["params"]["feature_range"] = {"tuple": wrong}
            with pytest.raises((ModelFileError, ValueError, OverflowError, TypeError)):
                from_record(record)

    def test_votes_need_a_calibration_of_as_many_classes(self):
        record = to_record(fitted("calibrated votes")).parts["estimator"]
        record.parts["calibration"].arrays["slopes"] = np.ones(4)
        record.parts["calibration"].arrays["offsets"] = np.ones(4)
        with pytest.raises(ValueError, match="4 slopes for 3 classes"):
            from_record(record)


def step(record: Record) -> Record:
    return record.parts["step0"]
