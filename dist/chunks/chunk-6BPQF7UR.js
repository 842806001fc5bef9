import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
function vocabularyOf(serviceName){let run=serviceName??"run",vendor=serviceName??"service",toolName=tool=>tool==="service-chrome"?`${vendor}-chrome`:tool;return{run,runs:`${run}s`,files:`${run}_files`,vendor,mediaType:`application/vnd.${vendor}.v2+json`,tools:TOOLS.map(toolName),toolName}}var TOOLS=["jmeter","gatling","java-selenium-chrome","java-selenium-firefox","service-chrome"];export{vocabularyOf,TOOLS};
