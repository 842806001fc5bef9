// The threads of the bundles, in one file: it scans stretches of results that it is sent, or answers the question about a plan that it was
// started with.
import './analysis/results/parallel/scan-worker.js'
import './service/plans/plan-worker.js'
