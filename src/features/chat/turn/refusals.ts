/** Reasons why calls are not made, for the model and for the people who read them. */
import { maxModelLevels } from '#platform/json-depth.ts'
import { maxValues } from '#platform/json-values.ts'

export const unreadableArguments = `The arguments are not a JSON object of at most ${maxValues} values and ${maxModelLevels} levels.`

/** Only the caller of the turn can run the call, which would separate other calls from their results. */
export const notCalledYet =
  'This call was not made, because it stood beside others. Read their results, then make it alone if it is still needed.'

/** A call that sends or changes something is not made twice. */
export const mayHaveRun =
  'The server was stopped while this call was made: it may have done its work, and its result is lost. It was not made again. ' +
  'Find out whether it did, or say that it is unknown.'

/** A person agrees to a call of a tool as it was when the model made it. */
export const changed = (name: string) =>
  `The tool ${name} was changed after this call was asked for, so that it was not made. Ask the agent again.`

/** A reason for the model, which should repeat it, and for the person who reads the call. */
export const approvalNeeded =
  'This call needs the approval of a person, because the agent was set so, or because this conversation holds text from ' +
  'documents, pages or tools that may have asked for it. It was not made. Say what it would do, and that it waits for approval.'

/** A turn that ends keeps no secrets of its calls, so these can't be made later. */
export const secretHeld =
  'This call needs approval, and holds a secret that is stored nowhere. It was not made. A person has to enter the secret.'

/** A hint for the model, after the reason of a refusal where no person can approve. */
export const browseHostsHelp = 'An admin can allow the host of an address in the setting `browse_hosts`.'
