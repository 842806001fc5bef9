/** Requests within this process that have not ended: no time of a ManualClock passes by itself meanwhile, as with one on a socket. */
export const underWay = new Set<object>()
