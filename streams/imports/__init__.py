"""Chat histories become events: formats (pure), what a task is (pure), and the tasks on Kafka."""
