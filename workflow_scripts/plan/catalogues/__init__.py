"""What a configuration names: models, encoders, judges, training sets and other things."""
