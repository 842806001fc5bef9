import { main } from '../app/index.js'
await main()
