import { post } from '../app/index.js'
await post()
