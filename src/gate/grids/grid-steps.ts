// What only grid-start and grid-stop need.
export { readGridStartSettings, readGridStopSettings } from './grid-settings.js'
export { startGrids, stopGrids } from './start-and-stop.js'
