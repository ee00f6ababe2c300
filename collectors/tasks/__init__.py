"""What workers do: a file a task, named as the task, with its `Job` and its `run(job)`."""
