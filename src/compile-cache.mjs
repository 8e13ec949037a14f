/**
 * Caches compiled code beside the package, so that later starts and threads need not compile it again. Loaded first, in
 * each thread as well, and written in JavaScript itself: the TypeScript loader takes 14 MB, and is not needed when
 * everything is cached.
 */
import './check-node.mjs'
// An old Node lacks the export, and would not come to the check if it were imported by name.
import module from 'node:module'

module.enableCompileCache(new URL('../node_modules/.cache/agentstead', import.meta.url).pathname)
