/**
 * Says where relative imports lead, loaded before all else, in each thread as well. Node would look at each of these files, and at
 * each folder above, for links and for what it is: a sixth of the processor time of a start, since there are a thousand of
 * them. An import that names its file in full leads where the address says, and one that leads nowhere fails all the same.
 */
import { registerHooks } from 'node:module'

const namesItsFile = /^\.\.?\/.*\.(?:js|mjs|ts)$/

registerHooks({
  resolve(specifier, context, resolveNext) {
    const { conditions, parentURL } = context
    if (parentURL === undefined || !namesItsFile.test(specifier) || !conditions.includes('import'))
      return resolveNext(specifier, context)
    return { url: new URL(specifier, parentURL).href, shortCircuit: true }
  },
})
