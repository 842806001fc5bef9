import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
function formatDuration(ms){let seconds=Math.max(0,Math.round(ms/1e3));if(seconds<120)return`${seconds} s`;let minutes=Math.floor(seconds/60);return minutes<60?seconds%60===0?`${minutes} min`:`${minutes} min ${seconds%60} s`:minutes%60===0?`${minutes/60} h`:`${Math.floor(minutes/60)} h ${minutes%60} min`}export{formatDuration};
