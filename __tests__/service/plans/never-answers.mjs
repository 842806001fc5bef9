// A thread that reads a plan without end.
setInterval(() => undefined, 1000)
