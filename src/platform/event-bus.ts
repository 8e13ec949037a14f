export type EventHandler<Payload> = (payload: Payload) => void | Promise<void>

/** Carries unstored events in the process to parts above the sender; `Events` maps names to payloads. */
export interface EventBus<Events> {
  /** Returns a function that removes the handler. */
  on<Name extends keyof Events & string>(name: Name, handler: EventHandler<Events[Name]>): () => void
  /**
   * Runs the handlers one after the other, in the order of their registration, all of them even if some fail.
   * @throws AggregateError of the handlers' errors.
   */
  emit<Name extends keyof Events & string>(name: Name, payload: Events[Name]): Promise<void>
}

export function createEventBus<Events>(): EventBus<Events> {
  const handlers = new Map<string, Set<EventHandler<unknown>>>()

  async function emit(name: string, payload: unknown): Promise<void> {
    const errors: unknown[] = []
    for (const handler of [...(handlers.get(name) ?? [])]) {
      try {
        await handler(payload)
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, failureOf(name, errors))
  }

  return {
    on(name, handler) {
      // A wrapper of its own, so that a handler registered twice runs twice, and each can be removed.
      const registered: EventHandler<unknown> = payload => handler(payload as Events[typeof name])
      const registrations = handlers.get(name) ?? new Set()
      handlers.set(name, registrations.add(registered))
      return () => registrations.delete(registered)
    },
    emit,
  }
}

function failureOf(name: string, errors: unknown[]): string {
  const messages = errors.map(error => (error instanceof Error ? error.message : String(error)))
  return `${errors.length} handler(s) of ${name} failed: ${messages.join('; ')}`
}
