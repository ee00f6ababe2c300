"""What workers of MindSpore do. None imports MindSpore before its process is set up."""
