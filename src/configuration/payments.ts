import { group, key, optional, webAddress } from './variables.ts'

/** Payments: the provider, and selling by x402. Agents can have credentials of their own. */
export const payments = group({
  variables: {
    PROVIDER_API_KEY: key(),
    PROVIDER_API_BASE: optional('an http or https address without a path', { check: isOrigin }),
    PROVIDER_WEBHOOK_SECRET: key(),
    X402_FACILITATOR_URL: webAddress(),
    X402_PAY_TO: optional('an address of 0x and 40 hexadecimal digits', { pattern: '^0x[0-9a-fA-F]{40}$' }),
  },
  read: environment => ({
    payments: {
      apiKey: environment.PROVIDER_API_KEY,
      apiBase: new URL(environment.PROVIDER_API_BASE ?? 'https://api.stripe.com'),
      webhookSecret: environment.PROVIDER_WEBHOOK_SECRET,
      /** Undefined if nothing can be sold. */
      facilitatorUrl: environment.X402_FACILITATOR_URL,
      payTo: environment.X402_PAY_TO,
    },
  }),
})

/** The provider's library accepts a host and no path. */
function isOrigin(value: string): boolean {
  const url = URL.parse(value)
  return url !== null && /^https?:$/.test(url.protocol) && url.pathname === '/' && url.search === ''
}
