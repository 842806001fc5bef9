import { cli } from '../app/index.js'
await cli()
