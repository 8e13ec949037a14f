/**
 * Keeps compiled code beside the package, so that later starts, and threads, need not compile it again. Loaded before all else, in
 * each thread as well, and JavaScript itself: what turns TypeScript into it takes 14 MB, and is not loaded where all is kept.
 */
import { enableCompileCache } from 'node:module'

enableCompileCache(new URL('../node_modules/.cache/agentstead', import.meta.url).pathname)
