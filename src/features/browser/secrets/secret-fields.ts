/** Selects fields whose contents are never shown: passwords, one-time codes, and data of payment cards. */
export const secretFields = [
  'input[type=password i]',
  'input[autocomplete$="-password" i]',
  ':is(input, textarea, select)[autocomplete~="one-time-code" i]',
  ':is(input, textarea, select)[autocomplete*="cc-" i]',
].join(', ')
