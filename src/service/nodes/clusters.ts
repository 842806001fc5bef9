/** Everything about nodes on Kubernetes, as one module to load lazily: most services have no such region. */
export { checkAccess } from './kubernetes/access.js'
export { openCluster, reopenCluster } from './kubernetes/open-cluster.js'
export { createPodPlace } from './pods/pod-place.js'
export { jobName } from './pods/start/job-manifest.js'
export { deleteJobs, deleteMarked } from './pods/start/jobs.js'
