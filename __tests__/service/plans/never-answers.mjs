// A thread that reads a plan without end.
import { setInterval } from 'node:timers'

setInterval(() => undefined, 1000)
