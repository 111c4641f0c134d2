#!/usr/bin/env perl
# Writes compiler/ops/text/unicode_classes.inc, the classes that patterns name with \p, from Perl's copy of the Unicode character database.
#
#   perl tools/unicode_classes.pl > compiler/ops/text/unicode_classes.inc
use strict;
use warnings;
use Unicode::UCD qw(prop_invmap);

# Runs of code points: where one begins, times 256, and the number of its class. `alternate`: letters that take turns from upper to lower case are one run.
sub table {
  my ($property, $prefix, $alternate) = @_;
  my ($starts, $classes) = prop_invmap($property);
  my @names = sort keys %{{ map { $_ => 1 } @$classes }};
  my %number;
  @number{@names} = 0 .. $#names;
  my @runs;
  for (my $i = 0; $i < @$starts; ++$i) {
    last if $starts->[$i] > 0x10ffff;
    my $n = $i;
    if ($alternate) {
      ++$n while $n + 1 < @$starts && $starts->[$n + 1] == $starts->[$n] + 1 && $classes->[$n] eq ($n % 2 == $i % 2 ? 'Lu' : 'Ll');
    }
    if ($n - $i >= 4) {  # what lies in [i, n) takes turns
      push @runs, $starts->[$i] * 256 + @names;
      $i = $n - 1;
    } else {
      push @runs, $starts->[$i] * 256 + $number{$classes->[$i]};
    }
  }
  print "inline constexpr const char* k${prefix}Names[] = {", join(", ", map { qq("$_") } @names), "};\n";
  print "inline constexpr uint32_t k${prefix}Runs[] = {\n";
  my $line = "   ";
  for (@runs) {
    my $text = sprintf(" 0x%x,", $_);
    if (length($line) + length($text) > 158) { print "$line\n"; $line = "   "; }
    $line .= $text;
  }
  print "$line\n};\n";
}

print "// Classes of code points (Unicode ", Unicode::UCD::UnicodeVersion(), "): each run begins at a code point (the number without its last 8 bits) and goes to the next one's; the\n";
print "// last 8 bits are the place of its name. Of categories, the number behind the last name is Lu and Ll in turn. Made by tools/unicode_classes.pl.\n";
print "#pragma once\n#include <cstdint>\n\nnamespace onnxc {\n\n";
table('General_Category', 'Category', 1);
print "\n";
table('Script', 'Script', 0);
print "\n}  // namespace onnxc\n";
