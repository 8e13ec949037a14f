/** The part of the package that our tests use, which comes without types. */
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http'

  interface Context {
    path: string
    body: unknown
  }

  export default class Provider {
    constructor(issuer: string, configuration: Record<string, unknown>)
    callback(): RequestListener
    use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): void
    on(event: string, listener: (context: unknown, error: Error) => void): void
  }
}
