/** A problem that an operator must fix before the model is usable, as a sentence without local paths. */
export class LocalModelProblem extends Error {}
