// Why the content of a field is not a value, in words for the person who typed it.

export class FieldProblem extends Error {}
