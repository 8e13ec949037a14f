/*
 * Kinds of failures that servers express only in words, with any status. docs/models.md lists the wordings
 * with their sources.
 */

export type WordedKind =
  | 'no-images'
  | 'no-tools'
  | 'unmet-policy'
  | 'filtered'
  | 'too-long'
  | 'unknown-model'
  | 'used-up'
  | 'empty'

/** The wordings in this order: a message on tools or policies can also mention a missing model. */
const wordings: readonly (readonly [WordedKind, RegExp])[] = [
  [
    'no-images',
    anyOf(
      /(does not|doesn't|do not|don't|not) support[^.\n]{0,30}?\b(images?|vision|multi-?modal)\b/,
      /endpoints found that support image|not a multi-?modal model|at most 0 image/,
      /\bimages?( inputs?| content| modality)*['"`]? (is|are) not (supported|enabled|available|allowed)/,
      /image_?url['"`]? is only supported by|unknown variant ['"`]?image_?url|missing data required for image/,
      /\bmessages?\b[^\n]{0,20}\bcontent['"`]? (: value )?must be a string/,
    ),
  ],
  [
    'no-tools',
    anyOf(
      /(does not|doesn't|do not|not) support[^.\n]{0,60}?\b(tools?\b|tool[ _-]\w+|function[ _-]?call)/,
      /found that support (tool use|the provided ['"`]?tool_choice)/,
      /\b(tools?|tool[ _](use|choice|calls?|calling))\b['"`]*( \w+)? (is|are) not (supported|enabled|available|allowed)/,
      /\bfunction[ _-]?call(s|ing)?\b['"`]* (is|are) not (supported|enabled|available|allowed)/,
      /tools?( param|[ _]choice( param)?)? requires? --/,
      /unrecognized request arguments? supplied:[^\n]{0,60}\b(tools|tool_choice)\b/,
    ),
  ],
  [
    'unmet-policy',
    anyOf(
      /(your|our) (guardrail restrictions|data policy)|violation \(account settings\)/,
      /no allowed providers are available|all providers have been ignored/,
      /openrouter\.ai\/settings\/(privacy|preferences)/,
    ),
  ],
  [
    'filtered',
    anyOf(
      /content[ _]management[ _]policy|ResponsibleAIPolicyViolation|\bcontent_filter\b|content_policy_violation/,
      /(input|prompt) was flagged|requires moderation|data_inspection_failed|Content Exists Risk/,
    ),
  ],
  [
    'too-long',
    anyOf(
      /context_(length|window|size)_?exceed|exceed_context_size|ContextWindowExceeded/,
      /exceed\w*[^.\n]{0,60}\bcontext[ _](size|length|window)|exceed\w*[^.\n]{0,30} max(imum)?[ _]model[ _]len/,
      /context (size|length|window)[^.\n]{0,20} exceeded/,
      /maximum (context|model|prompt|input) length|max context size/,
      /prompt is too long|prompt too long|input is too (large|long)|request too large for|too large for model/,
      /greater than the context length|context the overflows|n_keep \(?\d+\)? >= n_ctx/,
      /reduce the length of|max_tokens must be at least 1, got -/,
      /input token count[^\n]{0,40}exceeds|range of input length should be|(input|prompt) (length )?[^.\n]{0,20}exceeds (the )?max(imum)?[ _]length/,
      /longer than the model'?s?[^.\n]{0,20} context|exceeded model token limit|tokens in the prompt cannot exceed/,
      /`inputs` (tokens \+ `max_new_tokens` must be|must have less than)/,
    ),
  ],
  [
    'unknown-model',
    anyOf(
      /model_not_found|DeploymentNotFound|API deployment for this resource does not exist/,
      /model_decommissioned|has been decommissioned|no models? (is |are )?(currently )?loaded/,
      /try pulling it first|invalid model (name|identifier)|is not a valid model|no endpoints found for/,
    ),
  ],
  ['used-up', anyOf(/insufficient (credits|balance|funds)|out of credits|requires more credits/)],
  [
    'empty',
    anyOf(
      /(empty|no) (response|output|content)( (was|is))? (returned|generated|received|from)/,
      /returned an? empty (response|answer)/,
    ),
  ],
]

function anyOf(...patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join('|'), 'i')
}

export function kindByWords(evidence: string): WordedKind | undefined {
  return wordings.find(([, words]) => words.test(evidence))?.[0]
}

/** An end, or a sentence about it, caused by a filter; Google prefixes `content_filter: ` to its own. */
export const filteredEnd =
  /(^|ended with )(content[_-]filter|refusal|safety|sensitive|recitation|prohibited_content|blocklist|spii)\b/i

export const noSuchModel =
  /model[^\n]{0,220}(not found|not exist|not a valid)|(unknown|invalid|no such|not a valid) model/i

/** Returns the status that a message within a stream means, if its error has no other. */
export function statusOfMessage(message: string): number | undefined {
  if (/rate.?limit|too many requests|slow down/i.test(message)) return 429
  if (/no auth credentials|unauthori[sz]ed|(invalid|incorrect|missing|no) api.?key/i.test(message)) return 401
  if (/overloaded|unavailable|at capacity|try again later/i.test(message)) return 503
  return noSuchModel.test(message) ? 404 : undefined
}
