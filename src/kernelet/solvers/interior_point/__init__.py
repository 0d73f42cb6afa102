"""A primal-dual interior point for hinge loss plus a regulariser."""
