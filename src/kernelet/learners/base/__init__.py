"""What the learners of all papers share: validation, model files, prediction."""
