import type { PackageLock } from '../install/install-packages.js'

/** playwright-core, which drives the browser, and esbuild, which compiles a script. */
export const BROWSER_PACKAGES: PackageLock = {
  name: 'browser-engine',
  what: 'the packages for service-chrome (playwright-core, esbuild)',
  packageJson: 'packages/browser/package.json',
  packageLock: 'packages/browser/package-lock.json'
}
