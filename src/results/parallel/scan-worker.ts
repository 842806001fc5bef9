import { parentPort } from 'node:worker_threads'
import { scanStretch, type Stretch } from './scan-stretch.js'

// A failure to read ends this thread; whoever waits for the answer then reads the stretch itself and sees why.
parentPort?.on('message', (stretch: Stretch) => {
  void scanStretch(stretch).then((scan) => parentPort?.postMessage(scan))
})
