import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import{CancelledError}from"./chunk-CTWQBJNW.js";var SIGNALS=["SIGINT","SIGTERM","SIGHUP","SIGQUIT"];function listenForSignals(endNow){let cancellation=new AbortController;for(let name of SIGNALS)process.on(name,()=>{cancellation.signal.aborted?name!=="SIGHUP"&&endNow():cancellation.abort(new CancelledError(name))});return cancellation.signal}export{listenForSignals};
