/** The service and what only works with its folder, as one module to load lazily. */
export { openUsers } from './accounts/open-users.js'
export { startShop } from './demo-shop.js'
export { openQueue } from './accounts/open-queue.js'
export { pruneBeside } from './retention/prune.js'
export { serve } from './serve.js'
export { discardOnClose, startService } from './server.js'
export * as servedPages from '../report/page/served/served-pages.js'
