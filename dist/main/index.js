import { runPart } from '../action/index.js'
await runPart('main')
