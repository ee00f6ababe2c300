"""`fusescope gate`: conditions on two variants, or on two models."""
