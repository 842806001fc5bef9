import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
var systemClock={now:()=>Date.now(),steady:()=>performance.now(),after:(delayMs,act)=>{let timer=setTimeout(act,Math.min(delayMs,2147483647));return timer.unref(),()=>clearTimeout(timer)}};function steadyNow(clock){return clock.steady?.()??clock.now()}export{systemClock,steadyNow};
