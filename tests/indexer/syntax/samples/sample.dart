import 'dart:async';
import 'package:flutter/material.dart';

const limit = 10;

/// Shows a counter.
class Counter extends StatelessWidget {
  final int start;

  Counter(this.start);

  @override
  Widget build(BuildContext context) {
    return Text(format(start));
  }
}

enum Mode { fast, careful }

mixin Logging {
  void log(String text) {
    print(text);
  }
}

String format(int value) {
  return value.toString();
}
