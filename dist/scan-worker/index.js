import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import{scanStretch}from"../chunks/chunk-5UKLCFNF.js";import"../chunks/chunk-2I5HEK6U.js";import"../chunks/chunk-K5Y2IR4E.js";import{parentPort}from"node:worker_threads";parentPort?.on("message",stretch=>{scanStretch(stretch).then(scan=>parentPort?.postMessage(scan))});
