import { resolve } from 'node:path'

/** For the processes of the bundles: compiling them is a good part of what a short one does. A Node before 22 does not know it. */
export const NODE_COMPILE_CACHE = resolve('.cache/compiled')
