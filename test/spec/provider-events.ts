interface ProviderEvent {
  type: string
  effect: string
}

/** Events of the payment provider that its webhook acts on; all others are acknowledged and left alone. */
export const providerEvents = [
  {
    type: 'checkout.session.completed',
    effect: 'The session is complete, and a transaction stands for its payment.',
  },
  {
    type: 'issuing_authorization.request',
    effect: 'The answer approves or declines, as the settings of the agent say.',
  },
  { type: 'charge.succeeded', effect: 'A transaction stands for the charge.' },
] as const satisfies readonly ProviderEvent[]
