// Placeholder until the first source of this module lands.
