/**
 * Parts of undici that are imported by themselves: the whole of it, with `WebSocket` and all, takes 14 MB more, and the
 * first request outwards would keep everybody waiting longer. The package tells the types of the whole only.
 */

declare module 'undici/lib/core/connect.js' {
  import { buildConnector } from 'undici'
  export default buildConnector
}

declare module 'undici/lib/dispatcher/agent.js' {
  import { Agent } from 'undici'
  export default Agent
}

declare module 'undici/lib/dispatcher/env-http-proxy-agent.js' {
  import { EnvHttpProxyAgent } from 'undici'
  export default EnvHttpProxyAgent
}

declare module 'undici/lib/web/fetch/index.js' {
  export { fetch } from 'undici'
}
