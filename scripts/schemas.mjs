// Writes the schemas of the config files: npm run schema
//   --check writes nothing, and fails if a file differs
import './config-schema.mjs'
import './service-schema.mjs'
