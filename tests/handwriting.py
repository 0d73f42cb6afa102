"""Ten digits as a hand writes them: strokes of a few points, joined by curves or straight lines.

They were written down once, as one writes on squared paper (across and down, in tenths of the
height), before any machine had read them.
"""

import itertools

import numpy as np

# "~" begins a stroke that is a curve through its points, "-" one of straight lines.
STROKES = {
    0: ["~ 5,0 2,1.5 1,5 2,8.5 5,10 7,8.5 8,5 7,1.5 5,0"],
    1: ["- 2,2.5 5,0 5,10"],
    2: ["~ 1.5,2.5 2.5,0.7 5,0 7.3,1 7.5,3.2 5.5,6 1.5,10", "- 1.5,10 8,10"],
    3: [
        "~ 1.8,1.2 4,0 6.8,0.8 7,3 5.5,4.5 4,4.8",
        "~ 4,4.8 6.2,5.2 7.6,7 6.8,9.2 4.2,10 1.6,9",
    ],
    4: ["- 5.5,0 1,6.5 8,6.5", "- 6,3.5 6,10"],
    5: ["- 7,0 2.5,0 2,4.3", "~ 2,4.3 4.5,3.7 6.8,4.8 7.4,7 6,9.3 3.5,10 1.5,9"],
    6: ["~ 6.5,0 4,1.5 2.3,4.5 2,7.5 3.2,9.6 5.3,10 7,8.6 6.9,6.6 5.3,5.4 3.4,5.9 2.2,7.4"],
    7: ["- 1.5,0 7.5,0 3.5,10"],
    8: [
        "~ 6.8,1.6 5,0 2.8,0.9 2.6,2.8 5,4.7 7.2,6.8 7,9 4.8,10 2.5,9 2.3,6.8 4.6,4.8 6.8,3 6.8,1.6"
    ],
    9: ["~ 7,2.2 5.2,0 2.8,0.8 2.2,3 3.5,4.8 5.7,4.4 7,2.2", "~ 7,2.2 6.9,5 6.4,7.5 5.6,10"],
}
SHARES = np.linspace(0.0, 1.0, 40)[:, np.newaxis]


def way(stroke, slant):
    """Many points along a stroke, of a height of 1: straight lines, or a Catmull-Rom spline."""
    kind, *places = stroke.split()
    P = np.array([[float(x) for x in place.split(",")] for place in places]) / 10.0
    P[:, 0] += slant * (0.5 - P[:, 1])
    if kind == "-":
        return np.concatenate([a + SHARES * (b - a) for a, b in itertools.pairwise(P)])
    Q = np.concatenate([[2 * P[0] - P[1]], P, [2 * P[-1] - P[-2]]])
    pieces = []
    for a, b, c, d in zip(Q, Q[1:], Q[2:], Q[3:], strict=False):
        square, cube = 2 * a - 5 * b + 4 * c - d, 3 * b - 3 * c + d - a
        pieces.append(b + (SHARES * (c - a) + SHARES**2 * square + SHARES**3 * cube) / 2)
    return np.concatenate(pieces)


def jumps(stroke, height, step, slant=0.0):
    """Where a mouse is seen along a stroke, in whole pixels: ``step`` apart, or a little more."""
    along = height * way(stroke, slant)
    seen = [along[0]]
    for point in along[1:]:
        if np.hypot(*(point - seen[-1])) >= step:
            seen.append(point)
    if np.hypot(*(along[-1] - seen[-1])) > 1.0:
        seen.append(along[-1])
    return np.round(seen).astype(int)
