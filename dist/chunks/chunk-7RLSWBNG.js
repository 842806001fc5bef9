import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import{debug,error,info,notice,warning}from"./chunk-X3FPZSTK.js";function defuse(text){return text.split(/[\r\n\u0085\u2028\u2029]+/).map(line=>line.replace(/^([\s\uFEFF]*):(?=:)/,"$1: ").replace(/##(?=\[)/g,"# #")).join(`
`)}var isOwn=!1;function isSpeaking(){return isOwn}function speak(say){let before=isOwn;isOwn=!0;try{return say()}finally{isOwn=before}}function createLog(){return{info:line=>speak(()=>info(defuse(line))),notice:line=>speak(()=>notice(defuse(line))),warning:line=>speak(()=>warning(defuse(line))),error:line=>speak(()=>error(defuse(line))),debug:line=>speak(()=>debug(defuse(line)))}}export{defuse,isSpeaking,speak,createLog};
