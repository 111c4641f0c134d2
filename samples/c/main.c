/* The same from C99, by the C ABI: which digit does an image show?
 *
 *   digits_c IMAGE.pgm [EXPECTED.txt]
 */
#include <math.h>
#include <onnxc/model.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const onnxc_model* digits_model(void);

/* The next number of a plain PGM, where # begins a comment; 0 where there is none. */
static int next_number(FILE* file, float* number) {
  char word[32];
  while (fscanf(file, "%31s", word) == 1) {
    char* end;
    if (word[0] == '#') {
      int c;
      do c = fgetc(file);
      while (c != '\n' && c != EOF);
      continue;
    }
    *number = strtof(word, &end);
    return *end == '\0';
  }
  return 0;
}

/* A plain PGM of 8x8 pixels as values in [0, 1]; 0 where it is anything else. */
static int read_pgm(const char* path, float image[64]) {
  FILE* const file = fopen(path, "r");
  char magic[3] = "";
  float width = 0, height = 0, brightest = 0;
  int good = file != NULL && fscanf(file, "%2s", magic) == 1 && strcmp(magic, "P2") == 0 && next_number(file, &width) && next_number(file, &height) &&
             next_number(file, &brightest) && width == 8 && height == 8;
  for (int i = 0; good && i < 64; ++i) {
    good = next_number(file, &image[i]);
    image[i] /= brightest;
  }
  if (file != NULL) fclose(file);
  return good;
}

int main(int argc, char** argv) {
  float image[64], scores[10];
  if (argc < 2 || !read_pgm(argv[1], image)) {
    fprintf(stderr, "usage: digits_c IMAGE.pgm [EXPECTED.txt]   (a plain PGM of 8x8 pixels)\n");
    return 2;
  }
  const onnxc_model* const model = digits_model();
  const size_t bytes = model->arena_bytes(NULL); /* the model has no open dimensions */
  char* const room = malloc(bytes + model->arena_alignment);
  if (room == NULL) return 1;
  const void* const inputs[] = {image};
  void* const outputs[] = {scores};
  char message[256] = "";
  const onnxc_call call = {.inputs = inputs,
                           .outputs = outputs,
                           .arena = room + (model->arena_alignment - (uintptr_t)room % model->arena_alignment) % model->arena_alignment,
                           .arena_bytes = bytes,
                           .message = message,
                           .message_bytes = sizeof message};
  const int status = model->run(&call);
  free(room);
  if (status != ONNXC_OK) {
    fprintf(stderr, "digits_c: status %d: %s\n", status, message);
    return 1;
  }
  int answer = 0;
  for (int digit = 1; digit < 10; ++digit) {
    if (scores[digit] > scores[answer]) answer = digit;
  }
  printf("the model says: %d (%.6f)\n", answer, (double)scores[answer]);

  if (argc > 2) {
    FILE* const expected = fopen(argv[2], "r");
    int label = -1, right = expected != NULL && fscanf(expected, "%*s %d", &label) == 1 && label == answer;
    for (int digit = 0; right && digit < 10; ++digit) {
      float value;
      right = fscanf(expected, "%f", &value) == 1 && fabsf(value - scores[digit]) <= 1e-5f;
    }
    if (expected != NULL) fclose(expected);
    printf("expected: %d: %s\n", label, right ? "right" : "WRONG");
    return right ? 0 : 1;
  }
  return 0;
}
