import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
var systemClock={now:()=>Date.now(),after:(delayMs,act)=>{let timer=setTimeout(act,delayMs);return timer.unref(),()=>clearTimeout(timer)}};export{systemClock};
